from inspect import signature as sig


def returned(function):
    return sig(function).return_annotation
