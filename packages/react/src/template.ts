/** `@sluice/react/template`: what compiled JSX imports. */
export * from './facts/template.js';
