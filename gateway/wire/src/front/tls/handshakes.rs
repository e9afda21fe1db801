//! Handshakes, on a thread of their own. A signature with RSA takes most of a millisecond, which must not delay connected clients. Their
//! number is bounded; others wait in the order in which their clients began to speak.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Maximum time for which a handshake may occupy a place that others wait for. Many round trips. The handshake of a
/// slow client continues without one.
const PLACE_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct Handshakes {
    places: Arc<Semaphore>,
    runtime: Handle,
    /// Ends the thread when dropped.
    _stop: oneshot::Sender<()>,
}

impl Handshakes {
    /// # Errors
    /// Fails if the operating system gives no thread.
    pub(crate) fn start(at_once_max: u32) -> io::Result<Self> {
        // Sockets and clocks stay with the runtime that accepted the connection, which wakes this one.
        let runtime = Builder::new_current_thread().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name("handshakes".to_owned()).spawn(move || {
            // Signals are for the main thread.
            let _ = SigSet::all().thread_block();
            let _ = runtime.block_on(stopped);
        })?;
        let places = Arc::new(Semaphore::new(crate::ids::to_usize(u64::from(at_once_max))));
        Ok(Handshakes { places, runtime: handle, _stop: stop })
    }

    /// Makes a handshake. Returns the connection, or closes it if that failed. The handshake ends with the connection when this is dropped.
    pub(crate) async fn make(&self, acceptor: TlsAcceptor, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        // A client that says nothing takes no place, nor the memory of a session.
        stream.readable().await.ok()?;
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let mut handshake = Handshake(self.runtime.spawn(async move { acceptor.accept(stream).into_fallible().await }));
        // A socket is closed on this thread alone, so that its number is no other's while the connection is in the books.
        let made = tokio::select! {
            biased;
            made = &mut handshake => made,
            () = tokio::time::sleep(PLACE_TIMEOUT) => {
                drop(place);
                handshake.await
            }
        };
        made?.ok()
    }
}

/// A handshake on the other thread, cancelled when dropped.
struct Handshake(JoinHandle<HandshakeResult>);

/// Result of a handshake; the socket is returned if it failed.
type HandshakeResult = Result<TlsStream<TcpStream>, (io::Error, TcpStream)>;

impl Future for Handshake {
    /// `None` if the handshake has panicked.
    type Output = Option<HandshakeResult>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(Result::ok)
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        self.0.abort();
    }
}
