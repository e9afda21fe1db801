/** Resumption of a page that was prerendered in part: the state that it left is react-dom's own, and so is the rest of the page. */
import type * as Server from 'react-dom/server';
import { ReactDOMServer } from '../facts/react.js';
import { countFallback, countRender } from './fallback.js';
import { functionOf, withStatic, type StaticModule } from './static.js';

/** react-dom's function, which is asked of another render. */
function ofReactDOM<Module extends object, Name extends keyof Module & string>(
  module: Module,
  api: Name,
): Module[Name] {
  const resumes = functionOf(module, api, '19.2');
  countRender();
  countFallback({ reason: 'resume', api });
  return resumes;
}

export const resume: typeof Server.resume = (...args) => ofReactDOM(ReactDOMServer, 'resume')(...args);

export const resumeToPipeableStream: typeof Server.resumeToPipeableStream = (...args) =>
  ofReactDOM(ReactDOMServer, 'resumeToPipeableStream')(...args);

export const resumeAndPrerender: StaticModule['resumeAndPrerender'] = (...args) =>
  withStatic((module) => ofReactDOM(module, 'resumeAndPrerender')(...args));

export const resumeAndPrerenderToNodeStream: StaticModule['resumeAndPrerenderToNodeStream'] = (...args) =>
  withStatic((module) => ofReactDOM(module, 'resumeAndPrerenderToNodeStream')(...args));
