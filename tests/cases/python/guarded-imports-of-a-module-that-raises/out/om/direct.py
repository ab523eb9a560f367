from om.mem import plain
