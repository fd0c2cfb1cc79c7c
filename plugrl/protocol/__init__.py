"""The wire: codec, messages and the table of legal moves, without sockets."""
