"""What a run leaves on disk for whoever asks how it is: records, events, and where runs are."""
