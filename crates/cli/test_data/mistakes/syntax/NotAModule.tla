Here are my notes about the queue.
