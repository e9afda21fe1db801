// An app of ES modules that knows react-dom alone.
import * as still from 'react-dom/static';
import * as edge from 'react-dom/server.edge';
import * as server from 'react-dom/server';
import { renderToString } from 'react-dom/server';
import page from './react-page.cjs';

page.serve({ server: { ...server, renderToString }, edge, still });
