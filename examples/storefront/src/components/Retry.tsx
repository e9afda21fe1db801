/** Boundary of a part of a page whose data did not come: it says so, and has a button that asks again. */

import { Component, Suspense } from 'react';
import type { ReactNode } from 'react';
import { useRetry } from '../graph/hooks.js';

interface RetryProps {
  /** What the visitor reads in place of the part. */
  label: string;
  /** Names what is shown: when it changes, the boundary starts anew. */
  of: string | number;
  /** Shown while data is on its way. Without it the data is there: React would move large parts of a `<Suspense>` to the page's end. */
  fallback?: ReactNode;
  children: ReactNode;
}

export function Retry(props: RetryProps): ReactNode {
  return <Boundary {...props} ask={useRetry()} />;
}

interface BoundaryState {
  of: string | number;
  isFailed: boolean;
}

class Boundary extends Component<RetryProps & { ask: () => void }, BoundaryState> {
  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { isFailed: true };
  }

  static getDerivedStateFromProps({ of }: RetryProps, state: BoundaryState): BoundaryState | null {
    return of === state.of ? null : { of, isFailed: false };
  }

  override state: BoundaryState = { of: this.props.of, isFailed: false };

  #askAgain(): void {
    this.props.ask();
    this.setState({ isFailed: false });
  }

  override render(): ReactNode {
    const { children, fallback, label } = this.props;
    if (!this.state.isFailed)
      return fallback === undefined ? children : <Suspense fallback={fallback}>{children}</Suspense>;
    return (
      <div className="empty" role="alert">
        <p>{label}</p>
        <button className="button button-plain" type="button" onClick={() => this.#askAgain()}>
          Try again
        </button>
      </div>
    );
  }
}
