/** Widget: the one element of a screen. */
import type { FunctionComponent } from 'react';
import { WIDGET_TYPE } from '../tree/create.js';
import type { WidgetProps } from './props.js';

/** A box, text or image. A string at run time, so that a renderer meets it without a component around it. */
export const Widget = WIDGET_TYPE as unknown as FunctionComponent<WidgetProps>;
