"""The server: connections, batching, the frame rule, the loop, telemetry."""
