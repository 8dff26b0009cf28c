"""The page as `drivelab page` serves it on this machine, with the library and the sessions of its user beside it.

`site` finds the built page, `door` decides who comes in, `shelf` and `sessions` are what the page asks for, `app` puts
them together, and `serving` listens. The extra `drivelab[page]` is needed by the last two only.
"""
