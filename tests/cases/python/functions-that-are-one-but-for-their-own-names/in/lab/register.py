def apply(function):
    return function(value=1)
