/** @jsxRuntime automatic @jsxImportSource react */
import { type Style, Widget } from '@sluice/screens';
import { Component, type ReactNode, Suspense } from 'react';
import { useRetry } from '../graph/hooks.js';
import { Button } from './Button.js';
import { COLOURS, SIZES } from './look.js';

interface GuardProps {
  /** What could not be shown, as a viewer calls it. */
  readonly what: string;
  /** Shown while the children wait for their data. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

const BOX: Style = {
  flexDirection: 'row',
  alignItems: 'center',
  columnGap: 40,
  paddingLeft: 14,
  height: 160,
};
const TEXT: Style = { fontSize: SIZES.body, color: COLOURS.bad };

/** Error boundary with a way to try again, and the boundary of Suspense within. */
export function Guard(props: GuardProps): ReactNode {
  const retry = useRetry();
  return <Boundary {...props} retry={retry} />;
}

class Boundary extends Component<GuardProps & { retry: () => void }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    const { what, fallback, children, retry } = this.props;
    if (!this.state.hasFailed) return <Suspense fallback={fallback}>{children}</Suspense>;
    return (
      <Widget staticStyle={BOX}>
        <Widget staticStyle={TEXT} text={`${what} could not be loaded.`} />
        <Button
          text="Try again"
          onPress={() => {
            retry();
            this.setState({ hasFailed: false });
          }}
        />
      </Widget>
    );
  }
}
