/** Puts boxes that came later than their place into it: the content of `<template data-sluice-fill="b7">` replaces box `b7`. */
import { attribute, isFollowed } from './box.js';

export function fillBoxes(): void {
  for (const template of document.querySelectorAll<HTMLTemplateElement>('template[data-sluice-fill]')) {
    const id = attribute(template, 'data-sluice-fill');
    if (document.readyState === 'loading' && !isFollowed(template, id)) continue;
    const place = document.querySelector(`sluice-box[i="${CSS.escape(id)}"]`);
    template.remove();
    place?.replaceWith(template.content);
  }
}
