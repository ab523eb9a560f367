def view(request):
    return request


def route(path):
    return path
