//! Answers of the server, and access to it.
//!
//! It listens on the loopback interface only, and pages in the same browser, or other users of the machine, must not
//! read a trace by guessing. So the path begins with a random token (programs that can list the commands of this user
//! can see it while a browser is being started); the requested host has to be this one, because a page from elsewhere
//! can make its own name point here; and responses forbid caching, framing and content sniffing.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::worker::{Question, Refusal, Worker};

/// The values that every request is compared with.
pub(super) struct Door {
    token: String,
    port: u16,
    page: String,
    policy: HeaderValue,
}

/// The target of a request.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Page,
    Part(Question),
    Refused(StatusCode, &'static str),
}

impl Door {
    pub(super) fn new(port: u16, token: String) -> Door {
        let policy = format!("{}; frame-ancestors 'none'", omnilink_page::policy());
        let policy = HeaderValue::from_str(&policy).expect("the policy of the viewer is ASCII");
        let page = omnilink_page::served(
            "This page asks for its parts with a script. `omnilink check --full` says the same as text.",
        );
        Door { token, port, page, policy }
    }

    /// The address of the page.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    pub(super) async fn answer<B>(&self, worker: &Worker, request: Request<B>) -> Response<Full<Bytes>> {
        match self.target(&request) {
            Target::Page => self.respond(StatusCode::OK, "text/html; charset=utf-8", self.page.clone().into()),
            Target::Refused(status, why) => self.say(status, why.to_owned()),
            Target::Part(question) => match worker.ask(question).await {
                Ok(Ok(bytes)) => self.respond(StatusCode::OK, "application/octet-stream", bytes.into()),
                Ok(Err(Refusal::Unknown)) => self.say(StatusCode::NOT_FOUND, "unknown part".into()),
                Ok(Err(Refusal::Failed(why))) => self.say(StatusCode::UNPROCESSABLE_ENTITY, why),
                Err(_) => self.say(StatusCode::SERVICE_UNAVAILABLE, "the server is ending".into()),
            },
        }
    }

    fn target<B>(&self, request: &Request<B>) -> Target {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let is_here = host
            .is_some_and(|host| ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{}", self.port)));
        if !is_here {
            return Target::Refused(StatusCode::FORBIDDEN, "wrong host");
        }
        let mut path = request.uri().path().splitn(3, '/').skip(1);
        let (token, part) = (path.next().unwrap_or_default(), path.next());
        let Some(part) = part.filter(|_| is_same(token, &self.token)) else {
            return Target::Refused(StatusCode::NOT_FOUND, "not found");
        };
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Target::Refused(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported");
        }
        if part.is_empty() {
            return Target::Page;
        }
        let mut question = Question { part: part.into(), assume: Vec::new(), watch: Vec::new(), until: None };
        for (key, value) in form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes()) {
            match &*key {
                "assume" => question.assume.push(value.into_owned()),
                "watch" => question.watch.push(value.into_owned()),
                "until" => match value.parse() {
                    Ok(until) => question.until = Some(until),
                    Err(_) => return Target::Refused(StatusCode::BAD_REQUEST, "`until` is not the number of a step"),
                },
                _ => {
                    let why = "unrecognized parameter (expected `assume`, `watch` or `until`)";
                    return Target::Refused(StatusCode::BAD_REQUEST, why);
                }
            }
        }
        Target::Part(question)
    }

    fn say(&self, status: StatusCode, text: String) -> Response<Full<Bytes>> {
        self.respond(status, "text/plain; charset=utf-8", text.into())
    }

    fn respond(&self, status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        let fixed: [(HeaderName, &str); 5] = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}

/// Compares in constant time.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, host: &str, target: &str) -> Target {
        let door = Door::new(4000, "f00d".into());
        let request = Request::builder().method(method).uri(target).header("Host", host).body(()).unwrap();
        door.target(&request)
    }

    #[test]
    fn strangers_learn_nothing() {
        let refused = |wanted: Target, status| assert!(matches!(wanted, Target::Refused(found, _) if found == status));
        assert_eq!(check("GET", "127.0.0.1:4000", "/f00d/"), Target::Page);
        assert_eq!(check("HEAD", "localhost:4000", "/f00d/"), Target::Page);
        for host in ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "localhost:4000.evil.example", ""] {
            refused(check("GET", host, "/f00d/"), StatusCode::FORBIDDEN);
        }
        for target in ["/", "/f00d", "/f00", "/f00d0/", "//f00d/", "/F00D/head", "/favicon.ico"] {
            refused(check("GET", "localhost:4000", target), StatusCode::NOT_FOUND);
        }
        refused(check("POST", "localhost:4000", "/f00d/head"), StatusCode::METHOD_NOT_ALLOWED);
        refused(check("POST", "localhost:4000", "/other/head"), StatusCode::NOT_FOUND);
        refused(check("GET", "localhost:4000", "/f00d/states?until=-1"), StatusCode::BAD_REQUEST);
        refused(check("GET", "localhost:4000", "/f00d/states?unless=1"), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn questions_are_decoded() {
        let target = "/f00d/states?assume=T0%3A12+%3C+T3%3A7&assume=T3:7%20=%201a&watch=Len(queue)%20%3E%200&until=7";
        let question = Question {
            part: "states".into(),
            assume: vec!["T0:12 < T3:7".into(), "T3:7 = 1a".into()],
            watch: vec!["Len(queue) > 0".into()],
            until: Some(7),
        };
        assert_eq!(check("GET", "localhost:4000", target), Target::Part(question));
    }
}
