from ke import first, second, third
