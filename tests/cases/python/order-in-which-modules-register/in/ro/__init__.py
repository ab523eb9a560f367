from ro import first, beside, second, third
