//! Examples at the end of the help of commands. Those of a command with a module of its own are there.

pub(super) const EXAMPLES: &str = "\
Examples:
  sluice start server.js               run the app on every core, on port 3000
  sluice start -- npm run start        the same with a command
  sluice dev server.js                 the app while it is being developed
  sluice status                        look at it from another terminal
  sluice reload                        put a new version of the app in place
  sluice stop                          finish what was accepted, then leave

Exit codes: 0 done, 1 failed, 2 wrong usage or config, 3 no gateway runs, 4 app did not start, 5 address in use,
6 a fault in the gateway.";

pub(super) const START_EXAMPLES: &str = "\
Examples:
  sluice start                         what sluice.toml says, else the app that it finds here
  sluice start server.js               a script, CommonJS or ESM
  sluice start dist/main.js --port 8080 --workers 4
  sluice start -- npm run start        a command, from which the app is caught wherever it listens
  sluice start server.js --port 8081 --admin off --run-dir /tmp/second";

pub(super) const STOP_EXAMPLES: &str = "\
Examples:
  sluice stop                          wait until the gateway is gone
  sluice stop --timeout-ms 5000        give up waiting after five seconds, exit code 1";

pub(super) const RELOAD_EXAMPLES: &str = "\
Examples:
  sluice reload                        after a deployment; exit code 1 if the new version does not come up
  sluice reload --run-dir /run/shop    another instance than that of this directory

Ctrl-C ends the command and not the reload. SIGHUP and SIGUSR2 to the gateway do the same as this command.";

pub(super) const SCALE_EXAMPLES: &str = "\
Examples:
  sluice scale 8                       want eight workers from now on, and wait until they are ready
  sluice scale 2 --no-wait             return at once; workers leave one after the other

Ctrl-C ends the command; the gateway continues to the number that was asked for.";

pub(super) const UPGRADE_EXAMPLES: &str = "\
Examples:
  sluice upgrade                       the program and sluice.toml as they are on disk now
  sluice upgrade --cwd /srv/shop/current       where a link leads to another release by now
  sluice upgrade --binary /opt/sluice-0.2/sluice";

pub(super) const QUARANTINE_EXAMPLES: &str = "\
Examples:
  sluice quarantine                    list them
  sluice quarantine --release all      the app is mended: try them again
  sluice quarantine --release 0badcafe";

pub(super) const CLASSES_EXAMPLES: &str = "\
Examples:
  sluice classes                       those that take most CPU time first
  sluice classes --json | jq '.classes[] | select(.long) | .class'";

pub(super) const PROFILE_EXAMPLES: &str = "\
Examples:
  sluice profile                       five seconds of the worker that has answered most requests
  sluice profile --all --open          all workers in one flame graph, in the browser
  sluice profile --seconds 20 --route '/product/:id'
                                       only what ran for requests of this class (`sluice classes`)
  sluice profile --worker 3 --out /tmp/before
                                       writes /tmp/before.cpuprofile and /tmp/before.html
  sluice profile --tail                requests that took unusually long, which the gateway has profiled (profile.tail)
  sluice profile --tail 4711 --open    one of them
  sluice profile --json | jq -r '.places[:5][] | [.own / 1000, .file, .line] | @tsv'

The state directory (server.state_dir) keeps the latest 20 of each kind in profiles/, as profile-TIME.cpuprofile and profile-TIME.html; only their owner
can read them. A worker takes 2000 samples a second and one profile at a time, of 60 s at most. Ctrl-C ends it and leaves nothing.
Requests may share a worker: a sample is of the request whose continuation ran; what is nobody's is left out with --route.";

pub(super) const HEAP_EXAMPLES: &str = "\
Examples:
  sluice heap                          ten seconds of what one worker allocates and keeps, by function
  sluice heap --allocations            the same with what is collected at once: who makes the collector work
  sluice heap --snapshot --worker 3    everything on the heap; the worker stands still, and the command says for how long
  sluice heap --snapshot --yes --out /tmp/shop

The state directory (server.state_dir) keeps the latest 20 heap-WORKER-TIME.heapprofile and .html, and the latest 3 .heapsnapshot, in profiles/; only
their owner can read them. A snapshot waits up to 10 s for the worker's requests to end, takes 10 minutes at most, and does not count
as a stuck worker. Ctrl-C leaves nothing.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  sluice check                         validate, and print every key with where it comes from
  sluice check server.js               for `sluice start server.js`
  sluice check --config staging.toml --json";

pub(super) const COMPLETION_EXAMPLES: &str = "\
Examples:
  sluice completion bash > ~/.local/share/bash-completion/completions/sluice
  sluice completion zsh > ~/.zfunc/_sluice
  sluice completion fish > ~/.config/fish/completions/sluice.fish";
