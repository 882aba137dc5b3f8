"""One file that keeps replies and the account of calls; ``replies.ReplyCache`` is the way in."""
