import ssl

from plugrl.runs.prefect_api import reaching


def test_certificates_are_checked_where_there_is_tls():
    assert reaching("https://prefect.example/api")["verify"] is True


def test_without_tls_nobody_is_trusted_who_would_redirect_to_it():
    context = reaching("http://prefect.example/api")["verify"]
    assert isinstance(context, ssl.SSLContext)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.get_ca_certs() == []


def test_no_proxy_stands_before_this_machine():
    assert not reaching("http://127.0.0.1:4200/api")["trust_env"]
    assert reaching("http://prefect.example/api")["trust_env"]
