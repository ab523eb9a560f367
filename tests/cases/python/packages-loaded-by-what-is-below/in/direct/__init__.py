from direct.old.f import f
