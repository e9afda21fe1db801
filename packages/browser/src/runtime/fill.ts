/**
 * Puts HTML that came later than its place into it: `<template data-sluice-fill="b7">`, for box `b7`. Its content is the
 * box's content, or the whole box.
 */
import { attribute, isFollowed } from './box.js';

export function fillBoxes(): void {
  for (const template of document.querySelectorAll<HTMLTemplateElement>('template[data-sluice-fill]')) {
    const id = template.dataset['sluiceFill'] ?? '';
    if (document.readyState === 'loading' && !isFollowed(template, id)) continue;
    const box = document.querySelector(`sluice-box[i="${CSS.escape(id)}"]`);
    template.remove();
    if (!box) continue;
    const [only] = template.content.children;
    if (only?.localName === box.localName && attribute(only, 'i') === id) box.replaceWith(template.content);
    else {
      box.replaceChildren(template.content);
      box.removeAttribute('hole');
    }
  }
}
