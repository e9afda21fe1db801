//! A front's loop, which takes connections and the core's word on them.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sluice_message::Scheme;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::carry::Desk;
use super::outbox::Outbox;
use super::pages::Pages;
use super::thread::Seed;
use super::words::{Arrived, ToCore, ToFront};
use crate::front::listen;
use crate::front::lobby::{Lobby, News};
use crate::front::tls::Tls;
use crate::receive::memory::Memory;
use crate::receive::spool::TempStore;

/// How often pages are let go that are of no use any more.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Front {
    words: UnboundedReceiver<ToFront>,
    lobby: Rc<Lobby>,
    pub(crate) desk: Rc<Desk>,
    tls: Option<Arc<Tls>>,
}

impl Front {
    pub(super) fn new(seed: Seed) -> Self {
        let Seed {
            number,
            config,
            trust,
            memory_bytes_max,
            all_memory_bytes_max,
            used,
            unheard,
            files,
            tls,
            core,
            words,
        } = seed;
        let store = TempStore::sharing(&files, Memory::part(memory_bytes_max, all_memory_bytes_max, used));
        let pages = Pages::new(&config, trust, unheard.clone());
        let outbox = Outbox::new(number, core);
        let teller = Rc::clone(&outbox);
        let lobby = Lobby::of_front(Rc::new(config), store, move |news, key| match news {
            News::Works => teller.say(ToCore::Works(key)),
            News::Rests => teller.say(ToCore::Rests(key)),
            // Whoever leaves waits for it.
            News::Closed => teller.say_now(ToCore::Closed(key)),
        });
        let desk = Desk::new(Rc::clone(&lobby), outbox, pages, unheard);
        Front { words, lobby, desk, tls }
    }

    /// Ends with the gateway.
    pub(crate) async fn run(mut self) {
        let mut sweeping = tokio::time::interval(SWEEP_EVERY);
        loop {
            let word = tokio::select! {
                word = self.words.recv() => word,
                _ = sweeping.tick() => {
                    self.desk.pages.sweep();
                    continue;
                }
            };
            let Some(word) = word else { return };
            match word {
                ToFront::Page(grant) => self.desk.pages.take(*grant),
                ToFront::Connection(arrived) => self.take(arrived),
                ToFront::MakeRoom(key) => self.lobby.make_room(key),
                ToFront::Config(config, trust) => {
                    self.desk.pages.set_config(&config, trust);
                    self.lobby.set_config(Rc::new(*config));
                }
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
        let Arrived { stream, key, peer, local, scheme, is_redirected } = arrived;
        let Some(handle) = self.lobby.take_in(key) else { return };
        let Ok(stream) = TcpStream::from_std(stream) else { return self.lobby.closed(handle.key) };
        let tls = self.tls.as_ref().filter(|_| scheme == Scheme::Https);
        listen::serve(stream, tls, self.desk.road(key, (peer, local), scheme, is_redirected), handle);
    }
}
