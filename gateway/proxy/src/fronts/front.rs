//! A front's loop, which takes connections and the core's word on them.

use std::rc::Rc;
use std::sync::Arc;

use sluice_message::Scheme;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::carry::Desk;
use super::outbox::Outbox;
use super::thread::Seed;
use super::words::{Arrived, ToFront};
use crate::front::listen;
use crate::front::lobby::Lobby;
use crate::front::road::Road;
use crate::front::tls::Tls;
use crate::receive::memory::Memory;
use crate::receive::spool::TempStore;

pub(crate) struct Front {
    words: UnboundedReceiver<ToFront>,
    lobby: Rc<Lobby>,
    pub(crate) desk: Rc<Desk>,
    tls: Option<Arc<Tls>>,
}

impl Front {
    pub(super) fn new(seed: Seed) -> Self {
        let Seed { number, config, memory_bytes_max, all_memory_bytes_max, used, files, tls, core, words } = seed;
        let store = TempStore::sharing(&files, Memory::part(memory_bytes_max, all_memory_bytes_max, used));
        let outbox = Outbox::new(number, core);
        let lobby = Lobby::of_front(Rc::new(config), store, &outbox);
        Front { words, desk: Desk::new(Rc::clone(&lobby), outbox), lobby, tls }
    }

    /// Ends with the gateway.
    pub(crate) async fn run(mut self) {
        while let Some(word) = self.words.recv().await {
            match word {
                ToFront::Connection(arrived) => self.take(arrived),
                ToFront::MakeRoom(key) => self.lobby.make_room(key),
                ToFront::Config(config) => self.lobby.set_config(Rc::new(*config)),
                ToFront::Drain => {
                    self.lobby.drain();
                    self.lobby.connections.close_idle();
                }
                ToFront::HandOver => {
                    self.lobby.set_handed_over(true);
                    self.lobby.drain();
                }
                ToFront::CloseIdle => {
                    self.lobby.set_handed_over(false);
                    self.lobby.connections.close_idle();
                }
                ToFront::Cut => self.lobby.connections.cut(),
            }
        }
    }

    fn take(&self, arrived: Arrived) {
        let Arrived { stream, key, scheme } = arrived;
        let Some(handle) = self.lobby.take_in(key) else { return };
        let Ok(stream) = TcpStream::from_std(stream) else { return self.lobby.closed(handle.key) };
        let tls = self.tls.as_ref().filter(|_| scheme == Scheme::Https);
        listen::serve(stream, tls, Road::Core { desk: Rc::clone(&self.desk), key }, handle);
    }
}
