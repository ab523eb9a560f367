def crop(image):
    return image[1:]


def margin():
    return 1
