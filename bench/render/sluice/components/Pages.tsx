import '../../shop/css/footer.css';

export { Pages as default } from '../../shop/plain';
export const settings = { rendering: 'static' };
