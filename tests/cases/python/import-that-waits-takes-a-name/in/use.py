from pkg.ui.view import show
