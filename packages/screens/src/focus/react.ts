// Focus for components that want to render by it. Widgets need none of this: a style for the focus is `focusStyle`.
import { type ReactNode, createElement, useCallback, useState } from 'react';
import type { WidgetProps } from '../widget/props.js';
import { Widget } from '../widget/widget.js';

export interface Focused {
  readonly focused: boolean;
  /** Props for the widget. */
  readonly onFocus: () => void;
  readonly onBlur: () => void;
}

/** Whether a widget has the focus: the component renders again when that changes. */
export function useFocused(): Focused {
  const [focused, setFocused] = useState(false);
  const onFocus = useCallback(() => setFocused(true), []);
  const onBlur = useCallback(() => setFocused(false), []);
  return { focused, onFocus, onBlur };
}

export interface FocusableProps extends Omit<WidgetProps, 'children' | '$u' | '$m'> {
  readonly children: (focused: boolean) => ReactNode;
}

/** Widget that can have the focus, and whose children depend on it. */
export function Focusable({ children, onFocus, onBlur, ...props }: FocusableProps): ReactNode {
  const state = useFocused();
  const focus = (): void => {
    state.onFocus();
    onFocus?.();
  };
  const blur = (): void => {
    state.onBlur();
    onBlur?.();
  };
  return createElement(
    Widget,
    { focusable: true, ...props, onFocus: focus, onBlur: blur },
    children(state.focused),
  );
}
