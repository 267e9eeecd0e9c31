"""What stands in the way of a site: its installation, its folder, and all that lies between it and a study server.

==============  ============================================================================================
``sign``        what was looked at, how it stands, and the sentence to send to whoever can change it
``machine``     the program, the packages it needs, a browser, a port of this machine's own
``folders``     room on the disk, and who may read keys
``road``        a connection to a server step by step: proxy, TCP, TLS, one HTTP request, one WebSocket
``certificates``  whose certificate it is that is shown: the server's, or that of somebody in between
``server``      a server looked at along that road
``tables``      a table: is it there, what would each column be taken for, what makes trouble
==============  ============================================================================================

Nothing here needs more than the library's own packages: what the service needs, and is not there, is one of the things to be told.
Nothing is sent to a server but requests that anybody may make.
"""
