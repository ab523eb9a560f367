from p.a import f
