// What can be done to the gateway, and the token that it needs.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Model } from '../feed/model.js';
import { STALE, type Store } from '../feed/store.js';

interface Props {
  model: Model;
  store: Store;
  /** Called with the outcome, for people. */
  tell: (text: string) => void;
  /** Profiles all workers for so long. */
  profile: (seconds: number) => void;
  close: () => void;
}

/** The dialog of actions; first asks for the token where there is none. */
export function Actions({ model, store, tell, profile, close }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [hasToken, setHasToken] = useState(store.hasToken);
  const [busy, setBusy] = useState(false);
  const [workers, setWorkers] = useState(
    model.frame?.status.workers.filter(({ pid }) => pid !== null).length ?? 1,
  );
  const [seconds, setSeconds] = useState(5);
  useEffect(() => dialog.current?.showModal(), []);
  const act = async (action: string, body: object, done: string) => {
    setBusy(true);
    const refused = await store.act(action, body);
    setBusy(false);
    if (!store.hasToken) return setHasToken(false);
    tell(refused ?? done);
    if (refused === null) close();
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="actions">
      <h2 id="actions">{hasToken ? 'Actions' : 'Token'}</h2>
      {hasToken ? (
        <div class="stack">
          <p>
            <button
              type="button"
              disabled={busy}
              onClick={() => void act('reload', {}, 'The reload has begun; events show its progress.')}
            >
              Reload
            </button>{' '}
            replaces workers one by one with a new version of the app.
          </p>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void act('scale', { workers }, `${workers} is now the desired number of workers.`);
            }}
          >
            <label>
              Workers{' '}
              <input
                type="number"
                min={1}
                max={1024}
                value={workers}
                onInput={(event) => setWorkers(event.currentTarget.valueAsNumber)}
              />
            </label>{' '}
            <button type="submit" disabled={busy || !Number.isInteger(workers)}>
              Scale
            </button>
          </form>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              dialog.current?.close();
              profile(seconds);
            }}
          >
            <label>
              Seconds{' '}
              <input
                type="number"
                min={1}
                max={60}
                value={seconds}
                onInput={(event) => setSeconds(event.currentTarget.valueAsNumber)}
              />
            </label>{' '}
            <button type="submit" disabled={!Number.isInteger(seconds)}>
              Profile all workers
            </button>
          </form>
        </div>
      ) : (
        <Token file={model.tokenFile} store={store} done={() => setHasToken(true)} />
      )}
      <p class="end">
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}

export function Token({ file, store, done }: { file: string | null; store: Store; done: () => void }) {
  const [text, setText] = useState('');
  const [refused, setRefused] = useState(store.isTokenStale ? STALE : null);
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const refused = await store.setToken(text.trim());
    setBusy(false);
    setRefused(refused);
    if (refused === null) done();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <p>
        {file === null ? (
          <>
            It is <code>admin.token</code> of the configuration, or in the file <code>admin-token</code> of
            the run directory.
          </>
        ) : (
          <>
            It is in the file <code>{file}</code> on the gateway&rsquo;s machine.
          </>
        )}{' '}
        This tab stores it until you close the tab.
      </p>
      <label>
        Token{' '}
        <input
          type="password"
          autocomplete="off"
          required
          value={text}
          aria-invalid={refused !== null}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {refused !== null && <p role="alert">{refused}</p>}
      <button type="submit" disabled={busy}>
        Use it
      </button>
    </form>
  );
}
