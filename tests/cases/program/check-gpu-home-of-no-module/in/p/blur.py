import cupy as cp


def blur(image):
    if cp.cuda.is_available():
        return cp.asarray(image)
    return image
