import pydoc


def page(function):
    return pydoc.render_doc(function)
