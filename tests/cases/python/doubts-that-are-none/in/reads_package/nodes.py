def failed():
    raise __import__("reads_package.parse.conf").FormatError("no")
