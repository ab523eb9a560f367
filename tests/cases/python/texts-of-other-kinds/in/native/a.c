PyImport_ImportModule("tex.old_gpu");
