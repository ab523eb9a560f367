HERE = __loader__.get_filename()
