def mend():
    import sys
    from json import decoder
    function = decoder.scanstring
    if hasattr(function, "wrapped"):
        function = function.wrapped
    module = sys.modules[function.__module__]
    module.long = int
    return module.__name__
