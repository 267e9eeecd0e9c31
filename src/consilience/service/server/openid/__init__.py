"""Logging in by OpenID Connect: optional, beside passwords.

============  =====================================================================================
``settings``  what is configured, checked; the provider, if one is
``provider``  what is asked of the provider and checked of its answers (needs ``consilience[oidc]``)
``entry``     from what the provider says of a person to an account of this server
============  =====================================================================================
"""
