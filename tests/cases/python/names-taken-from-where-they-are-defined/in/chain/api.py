from chain.signal import Signal
