use std::task::{Context, Waker};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sluice_message::Fields;

use super::*;

/// The least that bcrypt does.
const COST: u32 = 4;

fn login() -> Login {
    let hash = |password: &str| PasswordHash::parse(&bcrypt::hash(password, COST).unwrap()).unwrap();
    // As `htpasswd -B` writes it.
    let bob = PasswordHash::parse(&hash(&"x".repeat(72)).as_str().replacen("$2b$", "$2y$", 1)).unwrap();
    let users = [("anna", hash("secret")), ("bob", bob)];
    Login::new(&config::Access::default(), users.into_iter().map(|(name, hash)| (name.to_owned(), hash)).collect())
}

fn head(path: &str, pair: Option<&str>) -> RequestHead {
    let value = pair.map(|pair| format!("Basic {}", STANDARD.encode(pair)));
    let mut fields: Fields = [("Accept", &b"*/*"[..])].into_iter().collect();
    if let Some(value) = &value {
        fields.push("authorization", value);
    }
    RequestHead { path_and_query: path.to_owned(), fields, ..RequestHead::default() }
}

async fn ask(login: &Login, client: &str, pair: Option<&str>) -> Result<(), Refusal> {
    let mut head = head("/", pair);
    let answer = login.admit(client.parse().unwrap(), &mut head).await;
    assert_eq!(head.fields.contains("authorization"), pair.is_some() && answer.is_err());
    assert!(head.fields.contains("accept"));
    answer.map(|is_user| assert!(is_user))
}

#[tokio::test]
async fn user_is_let_through_and_the_password_taken_off() {
    let login = login();
    assert!(ask(&login, "192.0.2.1", Some("anna:secret")).await.is_ok());
    assert!(ask(&login, "192.0.2.2", Some("anna:secret")).await.is_ok());
    assert!(ask(&login, "192.0.2.1", Some(&format!("bob:{}", "x".repeat(72)))).await.is_ok());
    let nobody = ask(&login, "192.0.2.1", None).await.unwrap_err();
    assert_eq!((nobody.code, nobody.detail), (Code::LoginRequired, ""));
    assert_eq!(nobody.challenge.as_deref(), Some("Basic realm=\"Restricted\", charset=\"UTF-8\""));
    // A longer password would be as good as its beginning.
    for pair in ["anna:Secret", "anna:", "ANNA:secret", "carl:secret", ":", &format!("bob:{}", "x".repeat(73))] {
        let refused = ask(&login, "192.0.2.1", Some(pair)).await.unwrap_err();
        assert_eq!(refused.code, Code::LoginRequired, "{pair}");
        assert!(refused.challenge.is_some() && !refused.detail.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn address_that_was_wrong_too_often_waits_and_others_do_not() {
    let login = login();
    assert!(ask(&login, "192.0.2.9", Some("bob:wrong")).await.is_err());
    assert!(ask(&login, "192.0.2.1", Some("anna:secret")).await.is_ok());
    for number in 0..10 {
        let refused = ask(&login, "192.0.2.1", Some(&format!("anna:{number}"))).await.unwrap_err();
        assert_eq!(refused.code, Code::LoginRequired, "{number}");
    }
    let limited = ask(&login, "192.0.2.1", Some("anna:guess")).await.unwrap_err();
    assert_eq!((limited.code, limited.retry_after_s), (Code::LoginLimited, Some(10)));
    // Also a right one, unless it is known; there is nothing to be learnt from the difference.
    let right = format!("bob:{}", "x".repeat(72));
    assert_eq!(ask(&login, "192.0.2.1", Some(&right)).await.unwrap_err().code, Code::LoginLimited);
    assert!(ask(&login, "192.0.2.1", Some("anna:secret")).await.is_ok(), "known already");
    assert!(ask(&login, "192.0.2.2", Some(&right)).await.is_ok(), "another address");
    assert_eq!(ask(&login, "192.0.2.1", None).await.unwrap_err().code, Code::LoginRequired);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(ask(&login, "192.0.2.1", Some("anna:guess")).await.unwrap_err().code, Code::LoginRequired);
    assert_eq!(ask(&login, "192.0.2.1", Some("anna:again")).await.unwrap_err().code, Code::LoginLimited);
}

#[tokio::test]
async fn i6_waiting_logins_are_limited_and_the_same_user_is_computed_once() {
    let login = login();
    let turn = login.turn.acquire().await.unwrap();
    let addresses: Vec<String> = (0..=WAITING_MAX).map(|number| format!("192.0.2.{number}")).collect();
    let mut asked: Vec<_> = addresses.iter().map(|client| Box::pin(ask(&login, client, Some("anna:secret")))).collect();
    for waiting in &mut asked[..WAITING_MAX] {
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let refused = asked.pop().unwrap().await.unwrap_err();
    assert_eq!((refused.code, refused.retry_after_s), (Code::LoginLimited, Some(1)));
    drop(asked.pop());
    assert_eq!(login.waiting.get(), WAITING_MAX - 1, "who has left waits no more");
    drop(turn);
    for waiting in asked {
        assert!(waiting.await.is_ok());
    }
    assert_eq!(login.waiting.get(), 0);
}

#[tokio::test]
async fn exempt_paths_are_open_as_long_as_nothing_else_could_be_meant() {
    let login = login();
    let open = "/.well-known/acme-challenge";
    for (path, is_open) in [
        (open.to_owned(), true),
        (format!("{open}/token-1_2"), true),
        (format!("{open}/token?x=%2e"), true),
        (format!("{open}s/x"), false),
        (format!("{open}/../../secret"), false),
        (format!("{open}/%2e%2e/secret"), false),
        (format!("{open}/..%2fsecret"), false),
        (format!("{open}\\..\\secret"), false),
        (format!("{open}//secret"), false),
        ("/secret".to_owned(), false),
        (format!("/x/..{open}/x"), false),
    ] {
        let mut head = head(&path, Some("app:own"));
        let answer = login.admit("192.0.2.1".parse().unwrap(), &mut head).await;
        assert_eq!(answer.is_ok(), is_open, "{path}");
        assert!(head.fields.contains("authorization"), "the app's own");
    }
}
