"""What is said between clients and the relay: messages, audio, limits, refusals.

Pure declarations and pure functions: nothing here opens a file or a socket, reads a clock,
or draws a random number.
"""
