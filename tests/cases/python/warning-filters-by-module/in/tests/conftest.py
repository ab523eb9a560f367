import warnings

warnings.filterwarnings("error", module="shop.core")
warnings.filterwarnings("ignore", module="numpy")
