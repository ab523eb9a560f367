from pkg.back.view import show
