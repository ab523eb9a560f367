def fixture(): return 1
