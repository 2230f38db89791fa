"""How Numba makes machine code of the core: nothing here is loaded where all code comes from the disk.

- ``compile``    code for entry points, of the parts they call
- ``reference``  what Numba is taught about the core: parts by reference, moments, the scheme as a type
- ``fillers``    functions that compiled code calls by their address
- ``indexing``   no index into an array of the core is negative
- ``users_code`` code of users: what goes wrong in Python goes wrong there (``python_rules``, ``assigned``)
- ``linking``    each part is linked into an entry once, and optimised with it
"""
