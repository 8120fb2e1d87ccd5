"""What a cell has where a job may open sockets: files for /etc, and the relay of a served program."""
