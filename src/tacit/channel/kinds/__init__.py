"""The kinds of channels, a file each; `tacit.channel.registry` has the list, and nobody else imports them."""
