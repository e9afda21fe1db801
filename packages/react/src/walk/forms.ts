/** Form controls: values become attributes or text, and actions become URLs, hidden fields, or a script that keeps what was submitted too early. */
import { attribute, booleanAttribute, namedAttribute, refuseContent } from '../facts/attributes.js';
import { escapeHtml, toText } from '../facts/escape.js';
import {
  NO_END,
  attributesOf,
  openWith,
  takesContent,
  transitionOf,
  type Content,
  type SpecialTag,
} from './host-special.js';
import { formReplayScript } from '../facts/client-scripts.js';
import { React, type Props } from '../facts/react.js';
import { SENT_FORM_REPLAY, shellId } from '../state/resources.js';
import { innerHtml } from './script.js';
import { isThenable } from '../facts/thenables.js';
import { profile } from '../facts/profile.js';
import type { Render } from '../state/render.js';

export const selectTag: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  const html = attributesOf(
    props,
    (name, value) => takesContent(content, name, value) || name === 'defaultValue' || name === 'value',
  );
  render.out += `${tag.open}${html}${transitionOf(format)}>${innerHtml(content.inner, content.children)}`;
  return content.children;
};

export const optionTag: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  let value: unknown = null;
  let selected: unknown = null;
  const html = attributesOf(props, (name, given) => {
    if (takesContent(content, name, given)) return true;
    if (name === 'value') value = given;
    if (name !== 'selected') return false;
    selected = given;
    return true;
  });
  const chosen = format.selected;
  let isSelected = Boolean(selected);
  if (chosen !== null && chosen !== undefined) {
    const own = value === null ? textOf(content.children) : toText(value);
    isSelected = Array.isArray(chosen) ? chosen.some((one) => toText(one) === own) : toText(chosen) === own;
  }
  const start = `${tag.open}${html}${isSelected ? ' selected=""' : ''}>`;
  render.out += start + innerHtml(content.inner, content.children);
  return content.children;
};

/** An option without a value has its text for one. */
function textOf(children: unknown): string {
  let text = '';
  React.Children.forEach(children, (child: unknown) => {
    if (child !== null && child !== undefined) text += child as string;
  });
  return text;
}

export const textareaTag: SpecialTag = (render, tag, props, format) => {
  let value: unknown = null;
  let defaultValue: unknown = null;
  let children: unknown = null;
  const html = attributesOf(props, (name, given) => {
    if (name === 'children') children = given;
    else if (name === 'value') value = given;
    else if (name === 'defaultValue') defaultValue = given;
    else if (name === 'dangerouslySetInnerHTML') {
      throw new Error('`dangerouslySetInnerHTML` does not make sense on <textarea>.');
    } else return false;
    return true;
  });
  value ??= defaultValue;
  if (children !== null) {
    if (value !== null) {
      throw new Error('If you supply `defaultValue` on a <textarea>, do not pass children.');
    }
    if (Array.isArray(children) && children.length > 1) {
      throw new Error('<textarea> can only have at most one child.');
    }
    value = toText(children);
  }
  let text = '';
  if (value !== null) {
    if (typeof value === 'string' && value.startsWith('\n')) text = '\n';
    text += escapeHtml(toText(value));
  }
  render.out += `${tag.open}${html}${transitionOf(format)}>${text}`;
  return null;
};

// Actions ----------------------------------------------------------------------------------------------------------

interface FormTarget {
  name: unknown;
  action: unknown;
  encType: unknown;
  method: unknown;
  target: unknown;
  data: FormData | null | undefined;
}

type FormAction = ((...args: unknown[]) => unknown) & {
  $$FORM_ACTION?: (prefix: string) => Partial<FormTarget> | null | undefined;
};

const SUBMITTED_TOO_EARLY = escapeHtml("javascript:throw new Error('React form unexpectedly submitted.')");

function checkField(value: unknown): void {
  if (typeof value !== 'string') {
    throw new Error(
      'File/Blob fields are not yet supported in progressive forms. Will fallback to client hydration.',
    );
  }
}

/** Returns what a server action wants to be posted; null for a function that only the client can call. */
function customFields(render: Render, action: FormAction): Partial<FormTarget> | null | undefined {
  if (typeof action.$$FORM_ACTION !== 'function') return null;
  render.notCacheable();
  const id = render.resources.nextFormId;
  render.resources.nextFormId += 1;
  try {
    const fields = action.$$FORM_ACTION(render.resources.idPrefix + id);
    fields?.data?.forEach(checkField);
    return fields;
  } catch (thrown) {
    // Not ready yet is waited for; any other error leaves the form to the client.
    if (isThenable(thrown)) throw thrown;
    return null;
  }
}

/** A function for an action: its attribute is written (returned), or `form` becomes what the function wants to be posted. */
function resolveAction(render: Render, form: FormTarget, attributeName: string): string {
  if (typeof form.action !== 'function') return '';
  const fields = customFields(render, form.action as FormAction);
  if (fields === null) {
    Object.assign(form, { name: null, action: null, encType: null, method: null, target: null });
    injectReplay(render);
    return ` ${attributeName}="${SUBMITTED_TOO_EARLY}"`;
  }
  const { name, action, encType, method, target, data } = fields as Partial<FormTarget>;
  form.name = name;
  form.action = action || '';
  form.encType = encType;
  form.method = method;
  form.target = target;
  form.data = data;
  return '';
}

function hiddenFields(data: FormData | null | undefined): string {
  let html = '';
  data?.forEach((value, name) => {
    checkField(value);
    html += `<input type="hidden"${namedAttribute('name', name)}${namedAttribute('value', value)}/>`;
  });
  return html;
}

function injectReplay(render: Render): void {
  render.notCacheable();
  const { resources } = render;
  if (resources.instructions & SENT_FORM_REPLAY) return;
  resources.instructions |= SENT_FORM_REPLAY;
  const { preamble } = resources;
  const isDocument = preamble.html !== null || preamble.head !== null;
  const id = isDocument && resources.bootstrap === '' ? shellId(resources) : '';
  const script = `${resources.openScript}${id}>${formReplayScript()}</script>`;
  // It has to listen before any other script runs.
  resources.bootstrap = script + resources.bootstrap;
}

function given(name: string, value: unknown): string {
  return value === null || value === undefined ? '' : attribute(name, value);
}

const STEERS_FORM: readonly (readonly [string, keyof FormTarget])[] = [
  ['name', 'name'],
  ['formAction', 'action'],
  ['formEncType', 'encType'],
  ['formMethod', 'method'],
  ['formTarget', 'target'],
];
/** Fields that steer a form. Before React 19, forms have no actions. */
const CONTROL_FIELDS = new Map(profile.hooks === 'of-18' ? [] : STEERS_FORM);

function emptyTarget(): FormTarget {
  return { name: null, action: null, encType: null, method: null, target: null, data: null };
}

/** Inputs and buttons: attributes that steer a form come last, in react-dom's order. */
function controlAttributes(render: Render, form: FormTarget): string {
  return (
    resolveAction(render, form, 'formAction') +
    given('name', form.name) +
    given('formAction', form.action) +
    given('formEncType', form.encType) +
    given('formMethod', form.method) +
    given('formTarget', form.target)
  );
}

export const inputTag: SpecialTag = (render, tag, props, format) => {
  const form = emptyTarget();
  const own: Props = { checked: null, defaultChecked: null, value: null, defaultValue: null };
  const html = attributesOf(props, (name, value) => {
    refuseContent('input', name);
    const field = CONTROL_FIELDS.get(name);
    if (field !== undefined) form[field] = value as never;
    else if (Object.hasOwn(own, name)) own[name] = value;
    else return false;
    return true;
  });
  const action = controlAttributes(render, form);
  const checked = own['checked'] ?? own['defaultChecked'];
  const value = own['value'] ?? own['defaultValue'];
  const state =
    (checked === null ? '' : booleanAttribute('checked', checked)) +
    (value === null ? '' : attribute('value', value));
  render.out += `${tag.open}${html}${action}${state}${transitionOf(format)}/>${hiddenFields(form.data)}`;
  return NO_END;
};

export const buttonTag: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  const form = emptyTarget();
  const html = attributesOf(props, (name, value) => {
    if (takesContent(content, name, value)) return true;
    const field = CONTROL_FIELDS.get(name);
    if (field === undefined) return false;
    form[field] = value as never;
    return true;
  });
  const start = `${tag.open}${html}${controlAttributes(render, form)}${transitionOf(format)}`;
  return openWith(render, start, content, hiddenFields(form.data));
};

const FORM_FIELDS = new Map<string, keyof FormTarget>([
  ['action', 'action'],
  ['encType', 'encType'],
  ['method', 'method'],
  ['target', 'target'],
]);

export const formTag: SpecialTag = (render, tag, props, format) => {
  const content: Content = { children: null, inner: null };
  const form = emptyTarget();
  const html = attributesOf(props, (name, value) => {
    if (takesContent(content, name, value)) return true;
    const field = FORM_FIELDS.get(name);
    if (field === undefined) return false;
    form[field] = value as never;
    return true;
  });
  const start =
    resolveAction(render, form, 'action') +
    given('action', form.action) +
    given('encType', form.encType) +
    given('method', form.method) +
    given('target', form.target);
  let posted = '';
  if (form.name !== null) {
    posted = `<input type="hidden"${namedAttribute('name', form.name)}/>${hiddenFields(form.data)}`;
  }
  return openWith(render, `${tag.open}${html}${start}${transitionOf(format)}`, content, posted);
};
