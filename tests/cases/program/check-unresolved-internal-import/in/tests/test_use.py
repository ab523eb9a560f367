from p.gonee import Pool
