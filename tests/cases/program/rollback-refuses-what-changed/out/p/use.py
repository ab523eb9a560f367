from p import gpu, heart
