print('util')
