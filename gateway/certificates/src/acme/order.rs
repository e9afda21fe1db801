//! One certificate, from the account to the file: order, challenge, request for the certificate, chain. It must not know when it is
//! called, nor who serves what it keeps.

use std::time::Duration;

use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, Authorizations, ChallengeType, ExternalAccountKey, Identifier,
    KeyAuthorization, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::fault::{ChallengeProbe, Fault};
use super::http::Http;
use super::settings::{Method, Settings};
use super::store::Store;
use crate::Validity;

/// Time limit of one order, from the account to the certificate.
pub(super) const ORDER_TIMEOUT: Duration = Duration::from_secs(300);
/// Longest time in which the CA looks for the answer to its challenge, and makes the certificate.
const POLL: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_millis(250)).backoff(1.5).timeout(Duration::from_secs(120));

/// Asks the CA for a certificate for `name` and keeps it in `store`, whose turn the caller has.
pub(super) async fn obtain(
    settings: &Settings,
    store: &Store,
    http: &Http,
    name: &str,
    method: Method,
) -> Result<Validity, Fault> {
    // What cannot be kept is not asked for: the CA counts it.
    store.create()?;
    store.probe()?;
    let ordered = async {
        let account = account(settings, store, http).await?;
        order(&account, settings, store, name, method).await
    };
    let obtained = tokio::time::timeout(ORDER_TIMEOUT, ordered).await.unwrap_or(Err(Fault::Slow));
    store.clear_challenges();
    if let Err(fault) = &obtained
        && fault.is_unknown_account()
    {
        store.drop_account()?;
    }
    obtained
}

/// The account that is kept, else a new one.
async fn account(settings: &Settings, store: &Store, http: &Http) -> Result<Account, Fault> {
    let builder = Account::builder_with_http(Box::new(http.clone()));
    if let Some(kept) = store.account().and_then(|text| serde_json::from_str::<AccountCredentials>(&text).ok()) {
        return Ok(builder.from_credentials(kept).await?);
    }
    let contact: Vec<String> = settings.contact.iter().map(|address| format!("mailto:{address}")).collect();
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let binding = settings.binding.as_ref();
    let binding = binding.map(|binding| ExternalAccountKey::new(binding.key_id.clone(), &binding.hmac_key));
    let (account, credentials) = builder.create(&wanted, settings.directory.clone(), binding.as_ref()).await?;
    store.keep_account(&serde_json::to_string(&credentials).map_err(Fault::own)?)?;
    Ok(account)
}

async fn order(
    account: &Account,
    settings: &Settings,
    store: &Store,
    name: &str,
    method: Method,
) -> Result<Validity, Fault> {
    let port = if method == Method::Http { settings.redirect_port } else { settings.tls_port };
    let asked = ChallengeProbe { method, port };
    let identifiers = [Identifier::Dns(name.to_owned())];
    let mut order = account.new_order(&NewOrder::new(&identifiers)).await?;
    answer(order.authorizations(), store, name, method).await.map_err(|fault| fault.after(asked))?;
    let status = order.poll_ready(&POLL).await.map_err(|error| Fault::from(error).after(asked))?;
    if status == OrderStatus::Invalid {
        return Err(why_invalid(&mut order).await.after(asked));
    }
    let key = KeyPair::generate().map_err(Fault::own)?;
    let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(Fault::own)?;
    params.distinguished_name = DistinguishedName::new();
    let request = params.serialize_request(&key).map_err(Fault::own)?;
    order.finalize_csr(request.der()).await?;
    let chain = order.poll_certificate(&POLL).await?;
    let pem = format!("{}{chain}", key.serialize_pem());
    let validity = check(&pem)?;
    store.keep_certificate(name, &pem)?;
    Ok(validity)
}

/// Offers the answer to the CA's challenge, and says that it is there. Names that the CA has looked for lately have none.
async fn answer(
    mut authorizations: Authorizations<'_>,
    store: &Store,
    name: &str,
    method: Method,
) -> Result<(), Fault> {
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let offered: Vec<String> =
            authorization.challenges.iter().map(|challenge| format!("{:?}", challenge.r#type)).collect();
        let wanted = match method {
            Method::Http => ChallengeType::Http01,
            Method::TlsAlpn => ChallengeType::TlsAlpn01,
        };
        let mut challenge = authorization.challenge(wanted).ok_or_else(|| Fault::NoChallenge(offered.join(", ")))?;
        let answer = challenge.key_authorization();
        match method {
            Method::Http => store.offer_answer(&challenge.token, answer.as_str())?,
            Method::TlsAlpn => store.offer_certificate(name, &challenge_certificate(name, &answer)?)?,
        }
        challenge.set_ready().await?;
    }
    Ok(())
}

/// Reason that the CA gives for a failed challenge.
async fn why_invalid(order: &mut Order) -> Fault {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.clone()) {
            return Fault::Refused { problem: Box::new(problem), asked: None };
        }
    }
    Fault::Given("an order that is invalid, without a reason".to_owned())
}

/// Key and certificate of RFC 8737 §3: self-signed, with a digest of the answer.
fn challenge_certificate(name: &str, answer: &KeyAuthorization) -> Result<String, Fault> {
    let key = KeyPair::generate().map_err(Fault::own)?;
    let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(Fault::own)?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(answer.digest().as_ref())];
    let certificate = params.self_signed(&key).map_err(Fault::own)?;
    Ok(format!("{}{}", key.serialize_pem(), certificate.pem()))
}

/// Validity of this key and chain, if clients can be served with them.
pub(super) fn check(pem: &str) -> Result<Validity, Fault> {
    let given = |error: &dyn std::fmt::Display| Fault::Given(error.to_string());
    let chain = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| given(&error))?;
    let validity = chain.first().and_then(|first| Validity::of(first)).ok_or_else(|| given(&"no certificate"))?;
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|error| given(&error))?;
    CertifiedKey::from_der(chain, key, &default_provider()).map_err(|error| given(&error))?;
    Ok(validity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_is_not_for_the_key_is_not_kept() {
        let made = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
            (key.serialize_pem(), params.self_signed(&key).unwrap().pem())
        };
        let ((key, chain), (other, _)) = (made("shop.example"), made("shop.example"));
        assert!(check(&format!("{key}{chain}")).is_ok());
        assert!(check(&format!("{other}{chain}")).is_err());
        assert!(check(&key).is_err());
        assert!(check("").is_err());
    }
}
